// Keeps what one kind of program keeps, writes V8's snapshot and aborts at once, so that core and snapshot are of one heap:
// node kinds.cjs <kind> <path of the snapshot>. Without arguments it prints the kinds.
const { createRequire } = require('node:module');
const { join } = require('node:path');
const v8 = require('node:v8');

const from = (folder) => createRequire(join(__dirname, '..', folder, 'package.json'));
const range = (count, make) => Array.from({ length: count }, (_, i) => make(i));

class Base {
  #secret;
  static registry = new Map();
  #hidden() {
    return this.#secret;
  }
  constructor(id) {
    this.id = id;
    this.#secret = { of: id, weight: id + 0.5 };
    this.read = () => this.#hidden();
  }
  get double() {
    return this.id * 2;
  }
}
class Derived extends Base {
  // biome-ignore lint/correctness/noUnusedPrivateClassMembers: kept by the class alone
  static #count = 0;
  name = 'derived';
  constructor(id) {
    super(id);
    Derived.#count++;
    Base.registry.set(id, this);
  }
}

const kinds = {
  async server() {
    const http = require('node:http');
    const sessions = new Map();
    const server = http.createServer((request, response) => {
      sessions.set(`${request.url}-${sessions.size}`, {
        headers: request.headers,
        at: Date.now(),
        parts: request.url.split('/'),
      });
      response.end(JSON.stringify({ url: request.url }));
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    for (let i = 0; i < 300; i++)
      await (await fetch(`http://127.0.0.1:${server.address().port}/orders/${i}/lines`)).json();
    return { server, sessions };
  },
  async langgraph() {
    const graph = from('agents')('@langchain/langgraph');
    const state = graph.Annotation.Root({
      messages: graph.Annotation({ reducer: (a, b) => a.concat(b), default: () => [] }),
    });
    const app = new graph.StateGraph(state)
      .addNode('think', ({ messages }) => ({
        messages: [{ role: 'ai', content: `answer ${messages.length}` }],
      }))
      .addEdge(graph.START, 'think')
      .addEdge('think', graph.END)
      .compile({ checkpointer: new graph.MemorySaver() });
    for (let i = 0; i < 20; i++)
      await app.invoke(
        { messages: [{ role: 'user', content: `question ${i}` }] },
        { configurable: { thread_id: `t${i % 4}` } },
      );
    return app;
  },
  compiler() {
    const ts = from('schema')('typescript');
    const text = range(
      120,
      (i) =>
        `export interface A${i} { value: number; next?: A${(i + 1) % 120} }\nexport function f${i}(a: A${i}): string { const local = a.value + ${i}; return local.toFixed(1); }`,
    ).join('\n');
    const host = ts.createCompilerHost({});
    const usual = host.getSourceFile;
    host.getSourceFile = (name, ...rest) =>
      name === 'a.ts' ? ts.createSourceFile(name, text, 9, true) : usual(name, ...rest);
    const program = ts.createProgram(['a.ts'], { noLib: true }, host);
    return { program, diagnostics: program.getSemanticDiagnostics() };
  },
  classes: () => range(3000, (id) => (id % 2 ? new Base(id) : new Derived(id))),
  maps: () => ({
    maps: range(300, (i) => new Map(range(20, (k) => [`k${i}-${k}`, { k }]))),
    sets: range(300, (i) => new Set(range(10, (k) => ({ i, k })))),
    weak: new WeakMap(range(400, (i) => [{ i }, { value: i }])),
    numbers: new Map(range(1000, (i) => [i, i / 3])),
  }),
  closures: () =>
    range(3000, (i) => {
      const local = { i };
      let count = 0;
      const inner = () => {
        const block = [local];
        return () => [block, count++];
      };
      return [inner, inner()];
    }),
  strings: () => ({
    joined: range(2000, (i) => `part ${i} of ${'many '.repeat(i % 7)}${i}`),
    sliced: range(1000, (i) => `a longer string, of which a slice is kept ${i}`.slice(2, 35)),
    wide: range(500, (i) => `вторая строка ${i} \u{1f642}`),
    big: 'x'.repeat(2_000_000) + Math.random(),
    lines: require('node:fs').readFileSync(__filename, 'utf8').split('\n'),
    symbols: range(200, (i) => Symbol(`own ${i}`)),
  }),
  bytes: () => ({
    typed: range(200, (i) => new Float64Array(i)),
    small: range(500, (i) => new Uint8Array(i % 60)),
    buffers: range(300, (i) => Buffer.from(`buffer ${i}`.repeat(9))),
    views: range(100, () => new DataView(new ArrayBuffer(64))),
    shared: new SharedArrayBuffer(4096),
    doubles: range(100, (i) => [i + 0.5, i * 1.1]),
  }),
  async workers() {
    const { Worker } = require('node:worker_threads');
    const code = `const { parentPort } = require('node:worker_threads');
      globalThis.kept = Array.from({ length: 2000 }, (_, i) => ({ inWorker: i }));
      setInterval(() => {}, 1e8); parentPort.postMessage('ready');`;
    const workers = range(2, () => new Worker(code, { eval: true }));
    await Promise.all(workers.map((worker) => new Promise((resolve) => worker.once('message', resolve))));
    return { workers, kept: range(2000, (i) => ({ inMain: i })) };
  },
  weak() {
    const keys = range(1500, (id) => ({ id }));
    const registry = new FinalizationRegistry(() => {});
    for (const key of keys) registry.register(key, { held: key.id }, key);
    return {
      keys,
      registry,
      references: keys.map((key) => new WeakRef(key)),
      lost: range(500, (id) => new WeakRef({ id })),
      set: new WeakSet(keys),
    };
  },
  async waiting() {
    async function step(i, gate) {
      const local = { i };
      await gate;
      return local;
    }
    function* numbers(i) {
      const local = { i };
      yield local;
      yield i;
    }
    async function* stream(i) {
      yield { i };
      await new Promise(() => {});
    }
    const gate = new Promise(() => {});
    const generators = range(1000, numbers);
    for (const generator of generators) generator.next();
    const streams = range(200, stream);
    await Promise.all(streams.map((each) => each.next()));
    for (const each of streams) each.next();
    return {
      running: range(1000, (i) => step(i, gate)),
      generators,
      streams,
      timers: range(100, () => setTimeout(() => {}, 1e8)),
      rejected: range(50, () => Promise.reject(new Error('r')).catch((e) => e)),
    };
  },
  dictionaries() {
    const large = {};
    for (let i = 0; i < 5000; i++) large[`key ${i}`] = { i };
    for (let i = 0; i < 3000; i += 3) delete large[`key ${i}`];
    const sparse = [];
    for (let i = 0; i < 500; i++) sparse[i * 10_007] = { i };
    const holes = range(200, (i) => {
      const list = [1, 2, { i }];
      delete list[1];
      list.length = 40;
      return list;
    });
    return {
      large,
      sparse,
      holes,
      bare: range(500, (i) => Object.assign(Object.create(null), { i: { i } })),
      json: JSON.parse(
        JSON.stringify(range(2000, (i) => ({ id: i, tags: ['a', 'b'], nested: { deep: { i } } }))),
      ),
    };
  },
  exotic: () => ({
    proxies: range(200, (i) => new Proxy({ i }, { get: () => i })),
    bound: range(200, (i) =>
      function named(a) {
        return [this, a];
      }.bind({ i }, i),
    ),
    expressions: range(200, (i) => new RegExp(`a${i}+(b|c)`, 'g')).filter(
      (each) => each.test('a1bb') || each.lastIndex === 0,
    ),
    errors: range(200, (i) => new TypeError(`error ${i}`, { cause: { i } })),
    dates: range(200, (i) => new Date(i)),
    big: range(200, (i) => 2n ** BigInt(i)),
    frozen: range(200, (i) => Object.freeze({ i, list: Object.freeze([i]) })),
    accessors: range(200, (i) => ({
      get a() {
        return i;
      },
      set a(_) {},
      [Symbol.iterator]: function* () {
        yield i;
      },
    })),
    given: range(200, (i) =>
      (function () {
        // biome-ignore lint/complexity/noArguments: the arguments object itself is the point
        return arguments;
      })(i, { i }),
    ),
    intl: [new Intl.NumberFormat('en'), new Intl.DateTimeFormat('en')],
    iterators: range(100, (i) => [
      new Map([[i, i]]).entries(),
      [i][Symbol.iterator](),
      'ab'[Symbol.iterator](),
    ]),
  }),
  async wasm() {
    const bytes = Uint8Array.of(
      0,
      97,
      115,
      109,
      1,
      0,
      0,
      0,
      1,
      7,
      1,
      96,
      2,
      127,
      127,
      1,
      127,
      3,
      2,
      1,
      0,
      5,
      3,
      1,
      0,
      1,
      7,
      7,
      1,
      3,
      97,
      100,
      100,
      0,
      0,
      10,
      9,
      1,
      7,
      0,
      32,
      0,
      32,
      1,
      106,
      11,
    );
    const instances = await Promise.all(
      range(20, async () => (await WebAssembly.instantiate(bytes, {})).instance),
    );
    for (const { exports } of instances) for (let i = 0; i < 1000; i++) exports.add(i, 1);
    return {
      instances,
      memory: new WebAssembly.Memory({ initial: 1 }),
      table: new WebAssembly.Table({ initial: 8, element: 'anyfunc' }),
    };
  },
  hot() {
    const points = range(3000, (i) => ({ x: i, y: i + 0.5 }));
    function distance(a, b) {
      const [dx, dy] = [a.x - b.x, a.y - b.y];
      return Math.sqrt(dx * dx + dy * dy);
    }
    let sum = 0;
    for (let turn = 0; turn < 300; turn++)
      for (let i = 1; i < points.length; i++) sum += distance(points[i - 1], points[i]);
    const texts = points.map(({ x }) => `${x}:${sum}`.replace(/:/g, '-').split('-'));
    texts.sort((a, b) => (a[0] < b[0] ? -1 : 1));
    return { points, texts, distance };
  },
  packages() {
    const zod = createRequire(join(__dirname, '..', '..', 'package.json'))('zod');
    const schema = zod.object({
      id: zod.number(),
      lines: zod.array(zod.object({ name: zod.string(), price: zod.number() })),
    });
    const acorn = createRequire(join(__dirname, '..', '..', 'package.json'))('acorn');
    const tree = acorn.parse(require('node:fs').readFileSync(__filename, 'utf8'), {
      ecmaVersion: 'latest',
      locations: true,
    });
    return {
      schema,
      parsed: range(500, (id) => schema.parse({ id, lines: [{ name: `n${id}`, price: id }] })),
      tree,
    };
  },
};

const [kind, path] = process.argv.slice(2);
if (kind === undefined) console.log(Object.keys(kinds).join(' '));
else
  Promise.resolve(kinds[kind]()).then((kept) => {
    globalThis.kept = kept;
    setTimeout(() => {
      v8.writeHeapSnapshot(path);
      // Unlike process.abort(), which describes its own stack first, this leaves the heap as it is.
      process.kill(process.pid, 'SIGABRT');
    }, 300);
  });
