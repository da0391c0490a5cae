const kind = process.argv[2];
const clients = {
  pg: async () => {
    const { default: pg } = await import('pg');
    await new pg.Client('postgres://u:p@127.0.0.1:9/d').connect();
  },
  'pg-pool': async () => {
    const { default: pg } = await import('pg');
    await new pg.Pool({ host: '127.0.0.1', port: 9 }).query('select 1');
  },
  mysql2: async () => {
    const { createConnection } = await import('mysql2/promise');
    await createConnection('mysql://u:p@127.0.0.1:9/d');
  },
  mongodb: async () => {
    const { MongoClient } = await import('mongodb');
    await new MongoClient('mongodb://127.0.0.1:9', { serverSelectionTimeoutMS: 300 }).connect();
  },
  redis: async () => {
    const { createClient } = await import('redis');
    const client = createClient({ url: 'redis://127.0.0.1:9', socket: { reconnectStrategy: false } });
    await client.connect();
  },
  ioredis: async () => {
    const { default: Redis } = await import('ioredis');
    const client = new Redis(9, '127.0.0.1', { maxRetriesPerRequest: 1, retryStrategy: (n) => (n > 2 ? null : 10) });
    client.on('error', (error) => console.log('heard', error.code ?? error.errors?.length));
    await client.get('key');
  },
  nats: async () => {
    const { connect } = await import('nats');
    await connect({ servers: '127.0.0.1:9', maxReconnectAttempts: 0, timeout: 300 });
  },
  mqtt: async () => {
    const { connectAsync } = await import('mqtt');
    await connectAsync('mqtt://127.0.0.1:9', { reconnectPeriod: 0, connectTimeout: 300 }, false);
  },
  typeorm: async () => {
    await import('reflect-metadata');
    const { DataSource } = await import('typeorm');
    await new DataSource({ type: 'postgres', host: '127.0.0.1', port: 9 }).initialize();
  },
  knex: async () => {
    const { default: knex } = await import('knex');
    await knex({ client: 'pg', connection: { host: '127.0.0.1', port: 9 } }).raw('select 1');
  },
  kysely: async () => {
    const { Kysely, PostgresDialect } = await import('kysely');
    const { default: pg } = await import('pg');
    const db = new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool({ host: '127.0.0.1', port: 9 }) }) });
    await db.selectFrom('orders').selectAll().execute();
  },
  bullmq: async () => {
    const { Queue } = await import('bullmq');
    const queue = new Queue('jobs', {
      connection: { host: '127.0.0.1', port: 9, retryStrategy: (n) => (n > 2 ? null : 10), maxRetriesPerRequest: 1 },
    });
    queue.on('error', (error) => console.log('heard', error.code ?? error.name));
    await queue.add('job', {});
  },
};
await clients[kind]();
console.log('connected');
