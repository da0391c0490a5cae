// The agent of agent-memory.ts: short sessions one after the other, and a long one beside them, over fetch.
import { setTimeout as delay } from 'node:timers/promises';

const [, , url, callCount, markCount] = process.argv;
const all = Number(callCount);
const tools = [{ type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } }];
let calls = 0;

async function ask(messages, stream) {
  const body = JSON.stringify({ model: 'm', stream, messages, tools });
  const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', body });
  await response.text();
  if (++calls % Math.ceil(all / Number(markCount)) === 0 || calls === all) await tellMemory();
}

/** What is alive, after the recorder has had its time to write. */
async function tellMemory() {
  await delay(500);
  for (let n = 0; n < 6; n++) globalThis.gc();
  const { heapUsed, rss } = process.memoryUsage();
  console.log(JSON.stringify({ calls, heapUsed, rss }));
}

const long = [{ role: 'system', content: 'You live long.' }];
for (let session = 0; calls < all; session++) {
  const messages = [{ role: 'user', content: `Session ${session}: how is the weather in city ${session}?` }];
  for (let turn = 0; turn < 3; turn++) {
    await ask(messages, turn % 2 === 0);
    messages.push({ role: 'assistant', content: `answer ${session}-${turn}` });
    messages.push({ role: 'user', content: `And after ${session}-${turn}?` });
  }
  if (session % 15 > 0) continue;
  long.push({ role: 'user', content: `Question ${session}` });
  await ask(long, true);
  long.push({ role: 'assistant', content: `Answer ${session}` });
  // As agents do that compact their history.
  if (long.length > 1500) long.splice(1, 1000);
}
