// Bundles a program with agentdump: node bundle.mjs webpack|rollup cjs|esm <entry> <agentdump> <folder>. Prints the file's name.
import commonjs from '@rollup/plugin-commonjs';
import resolve from '@rollup/plugin-node-resolve';
import { rollup } from 'rollup';
import webpack from 'webpack';

const [, , bundler, format, entry, agentdump, folder] = process.argv;
const filename = `bundled.${format === 'esm' ? 'mjs' : 'cjs'}`;

const bundlers = {
  async webpack() {
    const isEsm = format === 'esm';
    const output = isEsm ? { module: true, library: { type: 'module' }, chunkFormat: 'module' } : {};
    const stats = await new Promise((done, failed) => {
      const options = {
        mode: 'production',
        target: 'node20',
        entry,
        resolve: { alias: { agentdump$: agentdump } },
        experiments: { outputModule: isEsm },
        output: { path: folder, filename, ...output },
      };
      webpack(options, (error, result) => (error ? failed(error) : done(result)));
    });
    if (stats.hasErrors()) throw new Error(stats.toString({ all: false, errors: true }));
  },
  async rollup() {
    const alias = { name: 'agentdump', resolveId: (id) => (id === 'agentdump' ? agentdump : null) };
    const plugins = [alias, resolve({ preferBuiltins: true }), commonjs()];
    const bundle = await rollup({ input: entry, plugins, onwarn() {} });
    const to = { dir: folder, entryFileNames: filename, format: format === 'esm' ? 'es' : 'cjs' };
    await bundle.write(to);
  },
};

await bundlers[bundler]();
console.log(filename);
