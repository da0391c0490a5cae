// Fills the heap with what real programs keep, in the size asked for, and writes a heap snapshot:
//   node heap-generator.mjs <out.heapsnapshot> <scale>
// scale 1 is about 17 MB, 10 about 170 MB, 64 about 1.1 GB. Conversations of agents, syntax trees, closures, Maps, Sets,
// a linked list, dictionaries, typed arrays, strings with escapes and unicode. The same scale gives the same graph.
import { writeHeapSnapshot } from 'node:v8';

const [out, scaleText = '1'] = process.argv.slice(2);
const scale = Number(scaleText);
let seed = 12345;
const random = (limit) => {
  seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
  return seed % limit;
};

class Message {
  constructor(role, content, step) {
    this.role = role;
    this.content = content;
    this.step = step;
  }
}

class ToolResult {
  constructor(call, output) {
    this.tool_call_id = call;
    this.type = 'tool_result';
    this.content = [{ type: 'text', text: output, cache: null }];
  }
}

class Session {
  constructor(id, length) {
    this.id = `session-${id}`;
    this.messages = [];
    this.byId = new Map();
    this.listeners = new Set();
    for (let step = 0; step < length; step++) {
      const text = `step ${step} of ${id}: "quoted" \\ caf\u00e9 ${'x'.repeat(random(120))}`;
      const message = new Message(step % 2 ? 'assistant' : 'user', text, step);
      if (step % 5 === 0) message.content = new ToolResult(`call_${id}_${step}`, text);
      this.messages.push(message);
      this.byId.set(`${id}:${step}`, message);
      if (step % 7 === 0) this.listeners.add(() => this.messages[step]);
    }
  }
}

// A syntax tree with parent links and symbols: many edges a node, as compilers keep them.
class SyntaxNode {
  constructor(kind, parent, start) {
    this.kind = kind;
    this.parent = parent;
    this.pos = start;
    this.symbol = parent ? parent.symbol : undefined;
    this.locals = undefined;
    this.children = [];
    this.flowNode = parent;
    this.original = this;
  }
}

function syntaxTree(nodes, names) {
  const root = new SyntaxNode('SourceFile', undefined, 0);
  const all = [root];
  for (let at = 1; at < nodes; at++) {
    const parent = all[Math.max(0, all.length - 1 - random(40))];
    const node = new SyntaxNode(names[random(names.length)], parent, at);
    if (at % 9 === 0)
      node.symbol = { flags: at, declarations: [node, parent], name: names[random(names.length)] };
    if (at % 31 === 0) node.locals = new Map([[names[random(names.length)], node.symbol ?? node]]);
    parent.children.push(node);
    all.push(node);
  }
  return { root, all, byKind: new Set(all) };
}

const keep = {
  sessions: [],
  trees: [],
  list: null,
  dictionaries: [],
  embeddings: [],
  cache: new Map(),
  weak: new WeakMap(),
};
const names = Array.from({ length: 400 }, (_, index) => `Kind${index}`);
for (let part = 0; part < scale; part++) {
  for (let id = 0; id < 30; id++) keep.sessions.push(new Session(part * 100 + id, 60));
  keep.trees.push(syntaxTree(24_000, names));
  for (let link = 0; link < 16_000; link++)
    keep.list = { next: keep.list, value: link, owner: keep.sessions.at(-1) };
  const dictionary = {};
  for (let key = 0; key < 1500; key++)
    dictionary[`entry:${part}:${key}`] = { hits: key, last: [key, key * 1.5] };
  keep.dictionaries.push(dictionary);
  for (let row = 0; row < 20; row++) keep.embeddings.push(new Float32Array(384));
  for (let key = 0; key < 500; key++)
    keep.cache.set(`/path/${part}/${key}`, { body: Buffer.alloc(64), headers: { etag: key } });
  for (const session of keep.sessions.slice(-30)) keep.weak.set(session, { note: session.id });
}
globalThis.keep = keep;
writeHeapSnapshot(out);
