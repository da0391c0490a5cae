import { createServer } from 'node:http';
import { createSchema, createYoga } from 'graphql-yoga';
import { ask } from './ask.mjs';
const schema = createSchema({
  typeDefs: 'type Query { hello: String, fails: Int }',
  resolvers: {
    Query: {
      hello: () => 'hello',
      fails: () => {
        throw new Error('in a resolver');
      },
    },
  },
});
const server = createServer(createYoga({ schema, logging: false }));
server.listen(0, async () => {
  await ask(server.address().port, '/graphql?query={hello}', '/graphql?query={fails}');
  server.close();
});
