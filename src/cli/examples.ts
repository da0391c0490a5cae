/**
 * Command lines for the help of a command, each with a description, without the leading `agentdump`. The names here are the
 * commands that registry.ts may contain.
 */
export type Example = readonly [words: string, about: string];

export const examples = {
  analyze: [
    ['analyze latest', 'the newest bundle, in the terminal'],
    ['analyze latest --html death.html', 'one page for a browser'],
    ['analyze crash.agentdump.zip --json', 'a packed bundle, for a program'],
  ],
  core: [
    ['core core.4711', 'what the process was doing when it dumped its core'],
    ['core core.4711 --mini core.mini.gz', 'the same account in a file that can be sent'],
    ['core core.4711.zst refs @0x3f1c2a41b9a9', 'what referenced the object at an address'],
  ],
  agent: [
    ['agent latest --where "state.turns > 20 && size(state.todo) == 0"', 'when it first went wrong'],
    ['agent latest --diff s4 s9', 'what happened between two steps'],
  ],
  replay: [
    ['replay latest -- node agent.js', 'whether it dies the same way'],
    [
      'replay latest --until c3 --inspect -- node agent.js',
      'stop in the debugger before the third model call',
    ],
    ['replay latest --save-test test/replay -- node agent.js', 'make a regression test of it'],
  ],
  bisect: [
    ['bisect latest --good v1.4.0 -- node agent.js', 'the commit since v1.4.0 that brought the crash'],
  ],
  list: [['list --dir /var/crash', 'the bundles of another dump folder']],
  open: [
    ['open', 'the bundles of the dump folder'],
    ['open latest --no-browser', 'the newest bundle; only prints the address'],
    ['open app.heapsnapshot', 'a heap snapshot'],
    ['open core.4173 --exe ./node', 'a core'],
  ],
  heap: [
    ['heap app.heapsnapshot', 'overview of the heap'],
    ['heap suspects latest', 'leak suspects of the newest bundle'],
    ['heap retainers app.heapsnapshot @1234', 'what references a node (tables show node ids)'],
    ['heap show app.heapsnapshot @1234', 'its value'],
    ['heap suspects - < heap.heapsnapshot.gz', 'from a pipe, compressed or not'],
    ['heap suspects a.heapsnapshot b.heapsnapshot', 'what grew, as suspects'],
    ['heap suspects latest --baseline monday.heapsnapshot', 'what grew since an earlier snapshot'],
    ['heap suspects --watch 4711 --every 300', 'what grows in a living process, over ten minutes'],
    ['heap allocations app.heapprofile', 'who allocated what is alive'],
    ['heap suspects core.4173', 'the heap of a dead process, out of its core'],
    ['heap diff a.heapsnapshot b.heapsnapshot', 'what grew, by class and place'],
    ['heap query app.heapsnapshot "class = Session and retained > 1MB"', 'nodes by condition'],
    ['heap query app.heapsnapshot "select class, count(), sum(self) group by class"', 'groups and sums'],
  ],
  diff: [
    ['diff 83716c4a 897da489', 'two bundles, by the start of their ids'],
    ['diff latest --baseline ./yesterday', 'the newest against the newest of another folder'],
  ],
  prune: [['prune --max-bundles 10 --max-bytes 500MB', 'the ten most useful, within 500 MB']],
  pack: [['pack latest --output crash.agentdump.zip', 'one file to send']],
  unpack: [['unpack crash.agentdump.zip --output ./bundles', 'the folder that was packed']],
  verify: [
    ['verify latest', 'whether it is as it was written'],
    ['verify latest --secrets', 'and whether a secret is in it'],
  ],
  encrypt: [
    ['encrypt latest --recipient ops.pub', 'for a recipient whose age key is in that file'],
    ['encrypt latest --passphrase-file secret.txt', 'with a passphrase'],
  ],
  decrypt: [['decrypt crash.agentdump.zip.age --identity ops.key', 'with the private key of the recipient']],
  send: [
    ['send --all --to /srv/agentdump', 'the sealed bundles of the dump folder'],
    ['send latest --to "postgres://db/agentdump /srv/bundles"', 'into the index of a fleet'],
  ],
  serve: [
    ['serve token ci --may send --store /srv/agentdump', 'make a token for senders; it is printed once'],
    ['serve --store /srv/agentdump --port 8080', 'serve the store'],
  ],
  issues: [
    ['issues --store /srv/agentdump', 'the faults, what needs somebody first'],
    ['issues show 3f2a91c0', 'history, counts and bundles of one'],
    ['issues fetch 9c41d07be2a85f13', 'copy one of its bundles here, to analyze it'],
    ['issues resolve 3f2a91c0 --release 1.4.2', 'mended in 1.4.2; a death there or later is a regression'],
  ],
  mcp: [['mcp --dir .agentdump', 'as a coding assistant starts it']],
  run: [
    ['run -- node server.js', 'a bundle for whatever ends it'],
    [
      'run --restart on-failure --health-url http://localhost:8080/health -- node server.js',
      'restarted, and checked',
    ],
  ],
  ci: [
    ['ci -- npm test', 'a report where the tests fail, hang or are cancelled'],
    [
      'ci --hang-after 5m --report ./report -- npx vitest run',
      'dump a run in which nothing happens for 5 minutes',
    ],
    ['ci diff --baseline ./main-report', 'what is new in this run'],
  ],
  capture: [
    ['capture 4711', 'threads, requests and handles of a running process'],
    ['capture 4711 --heap --reason "memory grows"', 'with its heap, out of a copy of its memory'],
  ],
  doctor: [['doctor', 'try every kind of death on this machine']],
  sweep: [['sweep --dir /var/crash', 'after a restart, as a job or at the start of the service']],
  status: [['status --json', 'for a monitor']],
  runs: [
    ['runs trip-7', 'what the run has done, what it waits for, and what to do'],
    ['runs --dir postgres://localhost/agents', 'the runs of a store in PostgreSQL'],
  ],
  resume: [
    ['resume invoice-17', 'with the command line that began it'],
    ['resume invoice-17 -- node worker.js', 'with another one'],
  ],
  rollback: [['rollback invoice-17 --to draft#2', 'to the point before the second step "draft"']],
  approve: [['approve invoice-17 pay', 'let the run go on']],
  reject: [
    ['reject invoice-17 pay --value \'{"why":"wrong sum"}\'', 'with a value that the program is given'],
  ],
  enqueue: [
    ['enqueue invoice --id invoice-18 --input \'{"customer":7}\'', 'one run, however often this is called'],
  ],
  signal: [['signal invoice-17 delivered --value \'{"at":"dock 4"}\'', 'what the run waits for']],
  cancel: [['cancel invoice-17 --reason "ordered twice"', 'end it; its program is told']],
} as const satisfies Record<string, readonly Example[]>;

export type CommandName = keyof typeof examples;

export function examplesOf(name: string): readonly Example[] {
  return (examples as Record<string, readonly Example[]>)[name] ?? [];
}

/** For help that is not written by yargs. */
export function exampleText(name: CommandName): string {
  const rows = examplesOf(name).map(([words, about]) => `  agentdump ${words}\n      ${about}`);
  return ['Examples', ...rows].join('\n');
}
