import polka from 'polka';
import { ask } from './ask.mjs';
const app = polka({ onError: (error, _, response) => response.end(`handled ${error.message}`) });
app.get('/ok', (_, response) => response.end('ok')).get('/throws', () => {
  throw new Error('in a handler');
});
app.listen(0, async () => {
  await ask(app.server.address().port, '/ok', '/throws', '/none');
  process.exit(3);
});
