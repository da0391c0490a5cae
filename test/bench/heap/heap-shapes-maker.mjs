/**
 * Writes two snapshots of a heap of one shape, the second after more work: `heap-shapes-maker.mjs <shape> <scale> <a> <b>`.
 */
import { writeHeapSnapshot } from 'node:v8';

const [, , shape, scale, ...outs] = process.argv;
const kept = [];
globalThis.kept = kept;
const text = (at, length) => Buffer.alloc(length, `${at} `).toString('latin1');
const times = (count, work) => {
  for (let at = 0; at < count; at++) work(at);
};

const shapes = {
  /** Objects with many fields in one array. */
  wide: (n) =>
    times(8000 * n, (at) => {
      kept.push({ at, id: `id ${at}`, a: {}, b: {}, c: [at], d: null, e: `e ${at}`, f: 1.5 * at, g: true });
    }),
  /** Lists of which each link knows its owner. */
  lists: (n) =>
    times(4 * n, (list) => {
      const owner = { name: `list ${list}`, head: null };
      times(10_000, (at) => (owner.head = { owner, at: `${at}`, next: owner.head }));
      kept.push(owner);
    }),
  maps: (n) =>
    times(3000 * n, (at) => {
      kept.push(
        new Map([
          ['tags', new Set([`a ${at}`, 'b'])],
          ['row', { at: `${at}` }],
        ]),
      );
    }),
  /** Large arrays whose elements are also in another. */
  arrays: (n) =>
    times(n, () => {
      const rows = Array.from({ length: 40_000 }, (_, at) => ({ at: `${at}` }));
      kept.push(
        rows,
        rows.filter((_, at) => at % 2),
        new Float64Array(100_000),
      );
    }),
  strings: (n) => times(30_000 * n, (at) => kept.push(text(at, 40 + (at % 300)))),
  /** Many classes, each object held by two things. */
  classes: (n) => {
    const byId = new Map();
    times(300, (kind) => {
      const Kind = {
        [`Kind${kind}`]: class {
          constructor(at) {
            this.at = `${at}`;
            this.more = { at };
          }
        },
      }[`Kind${kind}`];
      times(40 * n, (at) => {
        const one = new Kind(at);
        kept.push(one);
        byId.set(`${kind} ${at} ${kept.length}`, one);
      });
    });
    kept.push(byId);
  },
  /** Functions that share scopes, promises that wait for each other. */
  closures: (n) =>
    times(3000 * n, (at) => {
      const request = { at: `${at}`, body: text(at, 60) };
      const answer = new Promise((resolve) => kept.push(() => resolve(request)));
      answer.then(() => request.body).then(() => request.at);
    }),
  /** A document: parents, children and siblings refer to each other. */
  tree: (n) => {
    const grow = (parent, depth) => {
      let before = null;
      times(8, (at) => {
        const node = {
          tag: `n${at}`,
          parent,
          before,
          after: null,
          children: [],
          style: { width: `${at}px` },
        };
        if (before) before.after = node;
        before = node;
        parent.children.push(node);
        if (depth > 0) grow(node, depth - 1);
      });
    };
    times(n, () => {
      const root = { tag: 'root', parent: null, children: [] };
      grow(root, 3);
      kept.push(root);
    });
  },
};

shapes[shape](Math.ceil(Number(scale) * 0.75));
writeHeapSnapshot(outs[0]);
shapes[shape](Math.ceil(Number(scale) * 0.25));
writeHeapSnapshot(outs[1]);
process.exit(0);
