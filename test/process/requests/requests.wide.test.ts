/**
 * Real frameworks with fifty requests in flight, one of which ends the program, on every Node: that one is named, or none.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestName } from '../../../src/model/origin.ts';
import { nodesInTurn } from '../../support/run/test-nodes.ts';
import { temporaryFolder } from '../../support/victims/run-victim.ts';
import {
  accountOfRequest,
  deathsOfRequests,
  isLost,
  type ServerKind,
  serversInstalled,
} from '../../support/victims/server-victim.ts';

const skip = serversInstalled ? false : 'npm ci --prefix test/servers was not run';

/** What the framework reveals about its route. */
const servers: Record<ServerKind, { route?: string; protocol?: string }> = {
  http: {},
  http2: { protocol: 'http2' },
  express: { route: '/orders/:id' },
  fastify: { route: '/orders/:id' },
  koa: {},
  hono: {},
  ws: { protocol: 'websocket' },
};

for (const node of nodesInTurn)
  for (const [kind, { route, protocol = 'http' }] of Object.entries(servers))
    test(`${node.name}, ${kind}: each request that ended it is named`, {
      skip,
    }, async (context) => {
      for (const [index, how] of deathsOfRequests.entries()) {
        const at = (11 * index + node.major) % 50;
        const dir = temporaryFolder(context);
        const account = await accountOfRequest({
          node: node.path,
          kind: kind as ServerKind,
          how,
          at,
          dir,
          env: { AGENTDUMP_CONTEXT: 'always' },
        });
        const blamed = account.requests?.filter(({ culprit }) => culprit) ?? [];
        if (isLost(how, node.major)) {
          assert.deepEqual(blamed, [], how);
          assert.equal(account.origin?.lost, 'no-context', how);
          continue;
        }
        const [culprit] = blamed;
        const method = protocol === 'websocket' ? 'WebSocket' : 'GET';
        assert.deepEqual(blamed.map(requestName), [`${method} /orders/${at}`], how);
        assert.equal(culprit?.protocol, protocol, how);
        if (route !== undefined) assert.equal(culprit?.route, route, how);
        // The request that opens the gate may not have been answered yet.
        assert.ok([50, 51].includes(account.origin?.inFlight ?? 0), how);
        assert.equal(account.origin?.webSockets, kind === 'ws' ? 50 : 0, how);
        assert.equal(account.origin?.http2Sessions, kind === 'http2' ? 1 : 0, how);
      }
    });
