/** The part of an address that stands for a title: "Crème brûlée!" becomes "creme-brulee". */
export function slug(title) {
  const plain = title.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  const words = plain.match(/[a-z0-9]+/g);
  if (words === null) return 'untitled';
  return words.join('-');
}
