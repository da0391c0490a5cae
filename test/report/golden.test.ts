/** Whole reports compared with files of test/golden. AGENTDUMP_UPDATE_GOLDEN=1 rewrites the files; review the difference. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { analyzeBundle } from '../../src/analysis/analyze.ts';
import type { Account } from '../../src/model/account.ts';
import { renderJson } from '../../src/report/json.ts';
import { renderMarkdown } from '../../src/report/markdown.ts';
import type { Palette } from '../../src/report/palette.ts';
import { renderText } from '../../src/report/text.ts';
import { commonParts, memoryBundle, synthParts } from '../support/synth/synth-analysis-bundle.ts';
import { assertOfSchema } from '../support/system/of-schema.ts';

const golden = join(dirname(fileURLToPath(import.meta.url)), '..', 'golden');
const change = (part: string, fields: object) => ({
  [part]: { ...(commonParts()[part] as object), ...fields },
});

const bundles: Record<string, Record<string, unknown>> = {
  'uncaught-exception': {},
  terminated: {
    'error.json': undefined,
    ...change('trigger.json', {
      kind: 'signal',
      signal: { name: 'SIGTERM', number: 15 },
      exitCode: undefined,
    }),
  },
  'missing-package': {
    ...change('process.json', { uptimeMs: 212 }),
    'error.json': {
      error: {
        type: 'object',
        isError: true,
        name: 'Error',
        code: 'MODULE_NOT_FOUND',
        message: "Cannot find module 'left-pad'\nRequire stack:\n- /srv/agent/src/agent.js",
        stack: [
          "Error: Cannot find module 'left-pad'",
          'Require stack:',
          '- /srv/agent/src/agent.js',
          '    at Module._resolveFilename (node:internal/modules/cjs/loader:1225:15)',
          '    at Module._load (node:internal/modules/cjs/loader:1051:27)',
          '    at require (node:internal/modules/helpers:177:18)',
          '    at Object.<anonymous> (/srv/agent/src/agent.js:1:13)',
        ].join('\n'),
      },
    },
    'drift.json': {
      lockFile: '/srv/agent/package-lock.json',
      kind: 'npm',
      missing: { specifier: 'left-pad', from: '/srv/agent/src/agent.js' },
      compared: 2,
      differences: [{ name: 'left-pad', requested: '^1.3.0', locked: '1.3.0', problem: 'not installed' }],
    },
  },
  'out-of-descriptors': {
    ...change('handles.json', {
      descriptorCount: 1021,
      descriptors: Array.from({ length: 300 }, (_, fd) => ({
        fd,
        kind: 'file',
        target: `/tmp/cache/${fd % 7}`,
      })),
    }),
    'error.json': {
      error: {
        type: 'object',
        isError: true,
        name: 'Error',
        code: 'EMFILE',
        message: "EMFILE: too many open files, open '/tmp/cache/9'",
        stack: "Error: EMFILE: too many open files, open '/tmp/cache/9'",
        properties: { errno: -24, syscall: 'open', path: '/tmp/cache/9' },
      },
    },
  },
};

/** Marks instead of colours, so that the golden file shows what is coloured. */
const marks: Palette = {
  strong: (text) => `*${text}*`,
  faint: (text) => `·${text}·`,
  bad: (text) => `!${text}!`,
  warn: (text) => `?${text}?`,
  good: (text) => `+${text}+`,
  place: (text) => `@${text}@`,
};

const renderings: [string, (account: Account) => string][] = [
  ['txt', (account) => renderText(account)],
  ['painted.txt', (account) => renderText(account, { palette: marks, columns: 80 })],
  ['md', renderMarkdown],
  ['json', renderJson],
];

for (const [name, changes] of Object.entries(bundles))
  for (const [extension, render] of renderings)
    test(`${name}.${extension}`, async () => {
      const text = render(await analyzeBundle(memoryBundle(synthParts(changes))));
      const path = join(golden, `${name}.${extension}`);
      if (process.env['AGENTDUMP_UPDATE_GOLDEN']) {
        mkdirSync(golden, { recursive: true });
        writeFileSync(path, text);
      }
      assert.equal(text, readFileSync(path, 'utf8'));
      if (extension === 'json') assertOfSchema(JSON.parse(text));
    });
