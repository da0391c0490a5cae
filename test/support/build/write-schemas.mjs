// Writes src/model/schema/*.json of the types in src/model. `npm ci --prefix test/schema` first; then `npm run schema`.
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(fileURLToPath(import.meta.url), '..', '..', '..', '..');

/** Each JSON document that programs read, by the name of its schema. */
export const documents = [
  { file: 'analysis-1.json', types: 'account.ts', type: 'Account', title: 'agentdump.analysis/1' },
  { file: 'ci-1.json', types: 'ci-summary.ts', type: 'CiSummary', title: 'agentdump.ci/1' },
  { file: 'diff-1.json', types: 'diff.ts', type: 'BundleDiff', title: 'agentdump.diff/1' },
];

const promise =
  'Within version 1 fields are added, and values to lists of kinds; none is removed, renamed or given another meaning. Read leniently: pass over what is not known.';

/** The text of one schema: JSON Schema draft 7. Lists of properties stay open, since fields are added within a version. */
export function schemaOf({ types, type, title }) {
  const require = createRequire(join(root, 'test', 'schema', 'package.json'));
  const { createGenerator } = require('ts-json-schema-generator');
  const config = {
    path: join(root, 'src', 'model', types),
    tsconfig: join(root, 'tsconfig.json'),
    type,
    additionalProperties: true,
    skipTypeCheck: true,
  };
  const { $schema, ...schema } = createGenerator(config).createSchema(type);
  return `${JSON.stringify({ $schema, title, description: promise, ...schema }, null, 2)}\n`;
}

export const pathOf = ({ file }) => join(root, 'src', 'model', 'schema', file);

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const document of documents) writeFileSync(pathOf(document), schemaOf(document));
