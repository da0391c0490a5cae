// A service that falls ill when it is told to: once in its life, and only in the first (the flag file says so).
import { execFileSync, execSync } from 'node:child_process';
import { existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [illness, port, flag] = process.argv.slice(2);
const isFirst = !existsSync(flag);
writeFileSync(flag, 'x');
let isWell = true;
const beat = process.env.AGENTDUMP_HEARTBEAT_FILE;
const touch = () => {
  if (!beat) return;
  if (!existsSync(beat)) writeFileSync(beat, '');
  utimesSync(beat, new Date(), new Date());
};
touch();
const beating = setInterval(touch, 50);
createServer((_, response) => {
  response.statusCode = isWell ? 200 : 503;
  response.end();
}).listen(Number(port), '127.0.0.1', () =>
  console.log(`up ${process.pid} ${process.env.AGENTDUMP_FRESH_STATE ?? '-'}`),
);

const illnesses = {
  spin(word) {
    const password = 'hunter2-very-secret';
    for (let turns = 0; ; turns++) if (turns < 0) return word + password;
  },
  answer() {
    isWell = false;
  },
  silent() {
    clearInterval(beating);
  },
  eat() {
    globalThis.eaten = [];
    setInterval(() => globalThis.eaten.push(Buffer.alloc(20 << 20, 1)), 50);
  },
  block() {
    // Nobody ever opens its other end.
    execFileSync('mkfifo', [`${flag}.fifo`]);
    readFileSync(`${flag}.fifo`);
  },
  child() {
    execSync('sleep 60');
  },
  busy() {
    // Away from waiting, but the loop turns.
    const work = () => {
      const until = Date.now() + 20;
      while (Date.now() < until);
      setImmediate(work);
    };
    work();
  },
};
if (isFirst) setTimeout(() => illnesses[illness]?.('forever'), 600);
