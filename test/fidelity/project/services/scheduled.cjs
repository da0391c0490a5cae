const cron = require('node-cron');
let runs = 0;
const task = cron.schedule('* * * * * *', () => {
  runs++;
  if (runs === 1) throw new Error('in a scheduled task');
  console.log('ran again');
  task.stop();
  process.exit(6);
});
