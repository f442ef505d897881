// A small API with a rate limit, in place of a real one:
//   node enrich-records/api.mjs [PORT] [REQUESTS PER SECOND]
import { createServer } from 'node:http';

const [port = '8787', rate = '3'] = process.argv.slice(2);
const KEY = 'sample-key-for-the-local-api';

const CITIES = {
  1: { name: 'Lisbon', country: 'PT', population: 545_796 },
  2: { name: 'Bergen', country: 'NO', population: 291_940 },
  3: { name: 'Turin', country: 'IT', population: 846_916 },
  4: { name: 'Ghent', country: 'BE', population: 265_086 },
  5: { name: 'Porto', country: 'PT', population: 231_800 },
  6: { name: 'Malmö', country: 'SE', population: 357_377 },
  7: { name: 'Basel', country: 'CH', population: 173_863 },
  8: { name: 'Tartu', country: 'EE', population: 97_435 },
};

/** The times of the requests that were answered within the last second. */
let answered = [];

const server = createServer((request, response) => {
  const [status, body, headers = {}] = answer(request);
  console.log(status, request.url);
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
});

function answer({ url, headers }) {
  if (headers.authorization !== `Bearer ${KEY}`) return [401, { error: 'unknown key' }];
  const now = Date.now();
  answered = answered.filter((time) => now - time < 1000);
  if (answered.length >= Number(rate)) return [429, { error: 'too many requests' }, { 'retry-after': '1' }];
  answered.push(now);
  const id = /^\/cities\/(\d+)$/.exec(url)?.[1];
  const city = CITIES[id];
  return city ? [200, { id: Number(id), ...city }] : [404, { error: `no city at ${url}` }];
}

server.listen(Number(port), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}, ${rate} requests per second`);
});
