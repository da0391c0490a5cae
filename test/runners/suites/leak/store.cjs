// A module that forgets nothing, in the way that it is told: AGENTDUMP_TEST_LEAK.
const { EventEmitter } = require('node:events');

const kind = process.env.AGENTDUMP_TEST_LEAK;
const requestLog = [];
const cache = [];
const sessions = new Map();
const bus = new EventEmitter().setMaxListeners(0);

class Session {
  constructor(number) {
    this.history = Array.from({ length: 1000 }, (_, turn) => ({ turn, text: `turn ${turn} of ${number}` }));
  }
}

/** Takes its time, as tests do. */
exports.makeSession = (number) => {
  for (const until = performance.now() + 25; performance.now() < until; );
  return new Session(number);
};

exports.handle = (number) => {
  const session = exports.makeSession(number);
  if (kind === 'array') requestLog.push(session);
  if (kind === 'a full cache') {
    cache.push(session);
    if (cache.length > 50) cache.shift();
  }
  if (kind === 'map') sessions.set(`session ${number}`, session);
  if (kind === 'listeners') bus.on('change', () => session.history.length);
  return session.history.length;
};
