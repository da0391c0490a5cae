/**
 * memlab's two analyses of growth over the snapshots of a folder (s1, s2, …): `leaks-memlab.mjs <folder>`. Prints the
 * ids that each lists, as JSON in the last line.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const plugin = (name) =>
  createRequire(import.meta.url)(`../peers/node_modules/@memlab/heap-analysis/dist/plugins/${name}.js`)
    .default;
const analyses = ['ObjectUnboundGrowthAnalysis', 'CollectionUnboundGrowthAnalysis'].map(plugin);

const workDir = mkdtempSync(join(tmpdir(), 'agentdump-bench-memlab-'));
const lists = [];
for (const Analysis of analyses) {
  const { analysisOutputFile } = await new Analysis().analyzeSnapshotsInDirectory(process.argv[2], {
    workDir,
  });
  const [, listed = ''] = readFileSync(analysisOutputFile, 'utf8').split('Top growing objects');
  lists.push([...listed.matchAll(/@(\d+)/g)].map(([, id]) => Number(id)));
}
rmSync(workDir, { recursive: true, force: true });
console.log(JSON.stringify(lists));
