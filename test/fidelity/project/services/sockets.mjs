import { WebSocket, WebSocketServer } from 'ws';
const server = new WebSocketServer({ port: 0 });
server.on('connection', (socket) => {
  socket.on('message', (data) => {
    if (String(data) === 'throw') throw new Error('in a listener of a socket');
    socket.send(`heard ${data}`);
  });
});
server.on('listening', () => {
  const client = new WebSocket(`ws://127.0.0.1:${server.address().port}`);
  client.on('open', () => client.send('hello'));
  client.on('message', (data) => {
    console.log(String(data));
    client.send('throw');
  });
});
