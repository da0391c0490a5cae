/** The published schemas match the current types. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
// @ts-expect-error: the scripts have no types
import { documents, pathOf, schemaOf } from '../support/build/write-schemas.mjs';

const hasGenerator = existsSync(new URL('../schema/node_modules', import.meta.url));

for (const document of documents as { file: string; title: string }[])
  test(`${document.title}: made of the types`, { skip: !hasGenerator && 'npm ci --prefix test/schema' }, () =>
    assert.equal(readFileSync(pathOf(document), 'utf8'), schemaOf(document), 'npm run schema was forgotten'),
  );
