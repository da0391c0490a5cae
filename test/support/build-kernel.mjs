// Compiles src/formats/heapsnapshot/scan.as.ts into scan-code.ts beside it, which is kept in the repository: whoever
// changes nothing there needs no compiler. `npm ci --prefix test/kernel` first.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const folder = join(root, 'src', 'formats', 'heapsnapshot');
/** Pages of 64 KB: tables, window and columns of scan.as.ts. */
const pages = '34';

/** The text of scan-code.ts. */
export async function compileKernel() {
  const compiler = join(root, 'test', 'kernel', 'node_modules', 'assemblyscript', 'dist', 'asc.js');
  const asc = await import(compiler);
  const source = readFileSync(join(folder, 'scan.as.ts'), 'utf8');
  let code;
  const words = [
    'scan.ts',
    '--outFile',
    'scan.wasm',
    '-O3',
    '--runtime',
    'stub',
    '--noAssert',
    '--enable',
    'simd',
  ];
  const { error, stderr } = await asc.main([...words, '--initialMemory', pages, '--maximumMemory', pages], {
    readFile: (name) => (name === 'scan.ts' ? source : null),
    writeFile: (name, contents) => {
      if (name === 'scan.wasm') code = contents;
    },
    listFiles: () => [],
  });
  if (error) throw new Error(stderr.toString());
  return `/** Made of scan.as.ts by \`npm run build:kernel\`. */
export const scanCode =
  '${Buffer.from(code).toString('base64')}';
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(join(folder, 'scan-code.ts'), await compileKernel());
