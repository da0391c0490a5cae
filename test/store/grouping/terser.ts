import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename } from 'node:path';

const terser = createRequire(new URL('../../bundlers/package.json', import.meta.url))('terser') as {
  minify(code: string, options: object): Promise<{ code?: string; map?: string }>;
};

/** Minifies esbuild's bundle, and continues its source map. */
export async function minifyByTerser(outfile: string, isMapped: boolean): Promise<void> {
  const { code, map } = await terser.minify(readFileSync(outfile, 'utf8'), {
    module: true,
    toplevel: true,
    ...(isMapped && {
      sourceMap: { content: readFileSync(`${outfile}.map`, 'utf8'), url: `${basename(outfile)}.map` },
    }),
  });
  writeFileSync(outfile, code ?? '');
  if (isMapped) writeFileSync(`${outfile}.map`, map ?? '');
}
