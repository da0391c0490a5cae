/**
 * A program with a stack formatter (Error.prepareStackTrace: source-map-support, APM agents) is not called for errors of
 * ours, nor for errors that it would not have seen otherwise, and finds Error as it left it.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodesInTurn, sampleOf } from '../../support/run/test-nodes.ts';
import { bundlesIn, runVictim, temporaryFolder } from '../../support/victims/run-victim.ts';

/** Errors that undici and the server create for an aborted request; their order and number vary between runs. */
const ofUndici =
  /^(?:aborted|read ECONNRESET|This operation was aborted|The operation was aborted|The client is destroyed|socket idle timeout|Socket closed before the connection was established)$/;

for (const node of nodesInTurn)
  for (const [name, args] of sampleOf(
    [
      ['its own Error', []],
      ['an Error in its place', ['replaced']],
    ] as [string, string[]][],
    2,
  ))
    test(`${node.name}, ${name}`, async (t) => {
      const dir = temporaryFolder(t);
      const victim = { file: 'host/formatter-counts.cjs', args, bundles: [] };
      const [bare, loaded] = await Promise.all(
        [false, true].map(async (preload) => {
          const { code, stdout } = await runVictim(node, victim, { preload, dir });
          assert.equal(code, 3);
          const said = JSON.parse(stdout) as { heard: string[] };
          return { ...said, heard: said.heard.filter((message) => !ofUndici.test(message)) };
        }),
      );
      assert.deepEqual(loaded, bare);
      assert.equal(bundlesIn(dir).length, 1);
    });
