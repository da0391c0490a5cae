module.exports = { client: 'pg', connection: { host: '127.0.0.1', port: 9 } };
