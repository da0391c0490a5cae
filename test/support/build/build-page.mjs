// Builds the page of `analyze --html` into two texts, its program and its style, which the renderer puts into each file; and the
// page of `open` into two files, which its server hands out.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
/** What is bundled, for the notice that its licence asks for: a page is a copy of it. */
const bundled = ['preact', '@preact/signals', '@preact/signals-core'];

/** Writes `page.js` and `page.css` into `outdir`, and the licences of what they hold. */
export async function buildPage(outdir) {
  const source = join(root, 'src', 'report', 'html');
  await buildBrowserProgram(source, join(source, 'styles', 'main.css'), outdir, 'page');
}

/** Writes `workbench.js` and `workbench.css` into `outdir`, and the licences of what they hold. */
export async function buildWorkbench(outdir) {
  const source = join(root, 'src', 'workbench', 'page');
  await buildBrowserProgram(source, join(source, 'styles.css'), outdir, 'workbench');
}

async function buildBrowserProgram(source, style, outdir, name) {
  const licences = bundled.map((library) => ({
    name: library,
    text: readFileSync(join(root, 'node_modules', library, 'LICENSE'), 'utf8'),
  }));
  const notices = licences.map(({ name, text }) => `${name}, MIT: ${/Copyright.*/.exec(text)?.[0]}`);
  await build({
    entryPoints: [
      { in: join(source, 'main.tsx'), out: name },
      { in: style, out: name },
    ],
    outdir,
    tsconfig: join(source, 'tsconfig.json'),
    bundle: true,
    platform: 'browser',
    format: 'iife',
    target: 'es2022',
    minify: true,
    charset: 'utf8',
    legalComments: 'none',
    banner: { js: `/* ${notices.join('; ')} */` },
  });
  writeFileSync(
    join(outdir, `${name}.LICENSES.txt`),
    licences.map((licence) => `${licence.name}\n\n${licence.text}`).join('\n---\n\n'),
  );
}
