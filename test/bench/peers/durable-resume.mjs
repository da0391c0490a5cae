// A run of 100 steps that dies in the next one; started again it says after how many milliseconds it came to that step.
import { agent } from '../../../dist/index.js';

await agent.run('resumed', { id: 'resumed', durable: true, notify: () => {} }, async () => {
  for (let index = 0; index < 100; index++) await agent.step('work', () => ({ index }));
  await agent.step('last', ({ inDoubt }) => {
    if (!inDoubt) process.kill(process.pid, 'SIGKILL');
    console.log(performance.now());
  });
});
