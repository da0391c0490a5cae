// Asks an API by node:http2, and dies of what it says.
import http2 from 'node:http2';

const session = http2.connect(process.env.API_URL);
const request = session.request({ ':method': 'POST', ':path': '/search' });
request.end(JSON.stringify({ city: 'Oslo' }));
let text = '';
for await (const chunk of request.setEncoding('utf8')) text += chunk;
const { days } = JSON.parse(text);
console.log(`${days[0].degrees} degrees`);
session.close();
