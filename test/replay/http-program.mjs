// Asks an API by fetch and by node:http, and dies of what it says. CITY changes what it asks, FIRST a path to read
// before; the marked line is what a fix changes.
import http from 'node:http';

const { API_URL: base, API_KEY: key, CITY: city = 'Oslo', FIRST: first } = process.env;

function get(url) {
  return new Promise((resolve, reject) => {
    const request = http.get(url, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ text, etag: response.headers.etag }));
    });
    request.on('error', reject);
  });
}

if (first) console.log((await (await fetch(base + first)).arrayBuffer()).byteLength, 'bytes');
const reply = await fetch(`${base}/search?units=metric`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ city, api_key: key }),
});
const found = await reply.json();
const { text, etag } = await get(`${base}/places/${found.id}`);
const { days } = JSON.parse(text);
console.log(`${days[0].degrees} degrees, ${etag}`); // the fault
