import { ApolloServer } from '@apollo/server';
import { buildSchema, graphql } from 'graphql';
const schema = buildSchema('type Query { hello: String, fails: Int }');
const root = {
  hello: () => 'hello',
  fails: () => {
    throw new Error('in a resolver');
  },
};
console.log(JSON.stringify(await graphql({ schema, source: '{ hello fails }', rootValue: root })));
const server = new ApolloServer({ typeDefs: 'type Query { one: Int }', resolvers: { Query: { one: () => 1 } } });
await server.start();
const { body } = await server.executeOperation({ query: '{ one }' });
console.log(JSON.stringify(body.singleResult));
await server.stop();
