// Asks a person before it books. Argument: a file for what really happened.
import { appendFileSync } from 'node:fs';
import { agent } from '../../../dist/index.js';

const [truth] = process.argv.slice(2);
const tell = (what) => appendFileSync(truth, `${what}\n`);

const result = await agent.run('booking', { id: 'b1', durable: true }, async () => {
  const offer = await agent.step('search', () => ({ hotel: 'Polar', price: 120 }));
  const { approved, value } = await agent.waitForApproval('book', offer, { notify: () => tell('asked') });
  if (!approved) return 'not booked';
  return agent.step('book', () => `booked ${offer.hotel} for ${value?.price ?? offer.price}`);
});
console.log(result);
