// Compiles the WebAssembly of src (AssemblyScript, *.as.ts) into *-code.ts beside it, which is kept in the repository:
// whoever changes nothing there needs no compiler. `npm ci --prefix test/kernel` first.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');

/** Pages of 64 KB, and how many more it may ask for. */
export const kernels = [
  { path: 'src/formats/heapsnapshot/scan/scan', pages: 34, mostPages: 34 },
  { path: 'src/analysis/memory/kernel/graph', pages: 1, mostPages: 65536 },
  { path: 'src/redaction/scan/kernel/walk', pages: 11, mostPages: 11 },
  { path: 'src/analysis/core/graph/digits', pages: 10, mostPages: 10 },
  { path: 'src/formats/v8/graph/kernel/heap', pages: 1, mostPages: 65536 },
];

/** The text of `<path>-code.ts`. */
export async function compileKernel({ path, pages, mostPages }) {
  const asc = await import(join(root, 'test', 'kernel', 'node_modules', 'assemblyscript', 'dist', 'asc.js'));
  const name = path.split('/').at(-1);
  const folder = join(root, dirname(path));
  let code;
  const words = [`${name}.ts`, '--outFile', 'out.wasm', '-O3', '--runtime', 'stub', '--noAssert'];
  const memory = ['--enable', 'simd', '--initialMemory', `${pages}`, '--maximumMemory', `${mostPages}`];
  const { error, stderr } = await asc.main([...words, ...memory], {
    readFile: (wanted) => readIfThere(join(folder, wanted.replace(/\.ts$/, '.as.ts'))),
    writeFile: (written, contents) => {
      if (written === 'out.wasm') code = contents;
    },
    listFiles: () => [],
  });
  if (error) throw new Error(stderr.toString());
  const text = Buffer.from(code).toString('base64');
  return `/** Made of ${name}.as.ts by \`npm run build:kernel\`. */\nexport const ${name}Code =\n  '${text}';\n`;
}

/** The compiler asks for a file under several names. */
function readIfThere(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const kernel of kernels)
    writeFileSync(join(root, `${kernel.path}-code.ts`), await compileKernel(kernel));
