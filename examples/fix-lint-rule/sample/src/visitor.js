/** The name comes from a cookie, the id from the address bar. */
export function greeting({ id, name }, known) {
  const visitor = known.find((each) => each.id == id);
  return visitor != undefined ? `Welcome back, ${visitor.name}` : `Hello, ${name}`;
}
