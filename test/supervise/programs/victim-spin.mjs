// Says `ready`, then spins for ever (`spin`), sleeps (`idle`), sits in a system call (`blocked`), or awaits an event (`waits`).
import { execSync } from 'node:child_process';
import { EventEmitter, once } from 'node:events';

const [how] = process.argv.slice(2);
const apiKey = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789';

function spinInside(step) {
  let turns = 0;
  while (how === 'spin') turns++;
  return turns + step + apiKey.length;
}
setInterval(() => {}, 100);
setTimeout(() => {
  process.stdout.write('ready\n');
  if (how === 'spin') spinInside(7);
  if (how === 'blocked') execSync('sleep 15', { stdio: 'ignore' });
}, 10);

const orders = new EventEmitter();
globalThis.orders = orders;
async function fetchOrder() {
  await once(orders, 'order-7');
}
async function serve() {
  await fetchOrder();
}
if (how === 'waits') await serve();
