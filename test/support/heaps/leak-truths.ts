/**
 * The leaks of fixtures/programs/heap/heap-leaks.mjs with the truth about each, and its healthy programs. `heap-leaks-in-node.cjs`
 * has a table of its own in its test.
 */

/** By kind of leak: the path of the container, and the class of its objects. */
export const leaks: Record<string, [RegExp, string]> = {
  sessions: [/app\.store\.byId$/, 'Session'],
  history: [/\.history$/, '{id, url, body}'],
  listeners: [/app\.bus\._events\.config$/, 'Function'],
  intervals: [/timerListMap\[\*\]$/, 'Timeout'],
  'wrapped handler': [/global\.app\.handler$/, 'Function'],
  'pending promises': [/app\.waiting$/, 'Promise'],
  'linked list': [/app\.log\.newest$/, '{entry, older}'],
  dictionary: [/app\.pages\.byUrl$/, '{id, url, body}'],
  buffers: [/app\.uploads\.parts$/, 'Buffer'],
  'log lines': [/app\.logger\.transports\[\*\]\.lines$/, '(string)'],
  'metric labels': [/app\.metrics\.requests\.hashMap$/, '{labels}'],
  'async context': [/\.spans$/, '{id, url, body}'],
};
/**
 * Leaks that no single container dominates, or only a chain does. They are tested beside 20 MB of permanent data, which is
 * the harder case.
 */
export const entangled: Record<string, [RegExp, string]> = {
  'list and timer': [/app\.jobs\.byName$/, '{name, request, timer}'],
  'two lists': [/app\.store\.(rejected|reasons)$/, '{id, url, body}'],
  ports: [/app\.channels\.open$/, 'MessagePort'],
  // The promise, or the function that would settle it: both hold everything that waits.
  'one gate': [/app\.(gate|open\{context\})$/, 'system / Context'],
  registry: [/app\.registry$/, '{close}'],
  'replaced thing': [/app\.peek\{context\}\.theThing$/, ''],
  'wasm memories': [/app\.modules\.memories$/, 'Memory'],
  'weak values': [/app\.users\[\*\]$/, '{id, url, body}'],
  'lists by user': [/app\.audit\.byUser\.get\(…\)$/, '{id, url, body}'],
  'list made anew': [/app\.state\.log$/, ''],
  'promise chain': [/app\.first$/, 'Promise'],
  'pool without release': [/app\.database\.lent$/, '{id, url, body}'],
  'memoized for ever': [/options\.cache$/, '{id, url, body}'],
  'chain of contexts': [/app\.current\{context\}\.store$/, '{parent, request}'],
  // Held by V8 from Node 24 on, before by Node's own resource.
  'context of a callback': [/resume.*(?:\.get\(…\)|kResourceStore>"\])$/, '{parent, request}'],
  'unread events': [/unconsumedEvents/, 'Array'],
  'list with two ends': [/app\.jobs(?:\.last)?$/, ''],
  'unlimited cache': [/app\.responses\.entries$/, '{id, url, body}'],
  'symbols by name': [/\{public_symbol_table\}$/, '(symbol)'],
  // Node's cache of resolved URLs grows less. Which of Node's objects has both depends on its version.
  'modules by URL': [/oader(?:"\])?\.loadCache$/, ''],
};
/**
 * What the title of the first suspect in a single snapshot must match. For leaks without an entry there must be no suspect.
 */
export const seenAtOnce: Record<string, RegExp> = {
  'list and timer': /byName|Timeout|timer/,
  'two lists': /app\.store\.(rejected|reasons)$/,
  ports: /app\.channels\.open$/,
  'one gate': /app\.(gate|open\{context\})$/,
  registry: /app\.registry$/,
  'pool without release': /app\.database\.lent$/,
  'replaced thing': /theThing$/,
  'wasm memories': /app\.modules\.memories$/,
  'lists by user': /app\.audit\.byUser/,
  'list made anew': /app\.state\.log$/,
  'promise chain': /app\.first$/,
  'memoized for ever': /options\.cache$/,
  'chain of contexts': /^The variable store|^2,0\d\d \{parent, request\} objects/,
  'context of a callback': /resume|\{parent, request\}/,
  'unread events': /unconsumedEvents/,
  'list with two ends': /app\.jobs/,
  'unlimited cache': /app\.responses\.entries$/,
  'symbols by name': /^2,0\d\d symbols of Symbol\.for/,
  'modules by URL': /^2,000 modules imported from data: URLs/,
};
export const healthy = [
  'LRU at its limit',
  'ring',
  'table',
  'pool',
  'timers',
  'server',
  'cache of arrays',
  'garbage',
  'expiring cache',
].map((name) => `healthy: ${name}`);
