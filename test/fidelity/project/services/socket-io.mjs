import { createServer } from 'node:http';
import { Server } from 'socket.io';
import { io } from 'socket.io-client';
const http = createServer();
const server = new Server(http);
server.on('connection', (socket) => socket.on('ping', (n, answer) => answer(n + 1)));
http.listen(0, () => {
  const client = io(`http://127.0.0.1:${http.address().port}`);
  client.emit('ping', 1, (n) => {
    console.log('answered', n);
    client.close();
    server.close();
  });
});
