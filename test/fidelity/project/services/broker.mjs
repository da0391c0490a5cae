import { createServer } from 'node:net';
import { Aedes } from 'aedes';
import mqtt from 'mqtt';
const broker = await Aedes.createBroker();
const server = createServer(broker.handle);
server.listen(0, () => {
  const client = mqtt.connect(`mqtt://127.0.0.1:${server.address().port}`);
  client.on('connect', () => client.subscribe('news', () => client.publish('news', 'hello')));
  client.on('message', (topic, message) => {
    console.log(topic, String(message));
    throw new Error('in a listener of the client');
  });
});
