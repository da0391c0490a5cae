/**
 * Validates a JSON document against its published schema, and rejects properties that the schema does not list, because types
 * and documentation drift apart silently.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';

const files: Record<string, string> = {
  'agentdump.analysis/1': 'analysis-1.json',
  'agentdump.ci/1': 'ci-1.json',
  'agentdump.diff/1': 'diff-1.json',
};
const compiled = new Map<string, ValidateFunction>();

/** `document` is serialized first; its own `schema` field selects the schema. */
export function assertOfSchema(document: unknown): void {
  const plain = JSON.parse(JSON.stringify(document)) as { schema: string };
  const check = compiled.get(plain.schema) ?? compile(plain.schema);
  assert.ok(check(plain), JSON.stringify(check.errors?.slice(0, 5), undefined, 1));
}

function compile(name: string): ValidateFunction {
  const file = files[name];
  assert.ok(file, `no schema of the name ${name}`);
  const schema = JSON.parse(
    readFileSync(new URL(`../../../src/model/schema/${file}`, import.meta.url), 'utf8'),
  );
  close(schema);
  const check = new Ajv({ allErrors: true, strictTypes: false }).compile(schema);
  compiled.set(name, check);
  return check;
}

/** Forbids properties that are not listed in any object. */
function close(schema: unknown): void {
  if (typeof schema !== 'object' || schema === null) return;
  const node = schema as Record<string, unknown>;
  if (node.type === 'object' && node.properties && node.additionalProperties === undefined)
    node.additionalProperties = false;
  for (const value of Object.values(node)) close(value);
}
