import { createServer } from 'node:http';
import axios from 'axios';
import got from 'got';
import nodeFetch from 'node-fetch';
import superagent from 'superagent';
import { request } from 'undici';
const server = createServer((incoming, response) => {
  if (incoming.url === '/fails') response.statusCode = 503;
  if (incoming.url === '/cut') return response.destroy();
  response.end(JSON.stringify({ path: incoming.url, agent: incoming.headers['user-agent']?.split('/')[0] }));
});
await new Promise((resolve) => server.listen(0, resolve));
const base = `http://127.0.0.1:${server.address().port}`;
const clients = {
  axios: async (url) => JSON.stringify((await axios.get(url)).data),
  got: (url) => got(url, { retry: { limit: 0 } }).text(),
  'node-fetch': async (url) => (await nodeFetch(url)).text(),
  superagent: async (url) => (await superagent.get(url)).text,
  undici: async (url) => (await request(url)).body.text(),
  fetch: async (url) => (await fetch(url)).text(),
};
for (const [name, get] of Object.entries(clients))
  for (const path of ['/ok', '/fails', '/cut'])
    console.log(name, path, await get(base + path).catch((error) => `${error.name} ${error.code ?? error.cause?.code}`));
server.close();
server.closeAllConnections();
