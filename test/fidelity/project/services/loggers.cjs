const kind = process.argv[2];
const loggers = {
  winston: () => {
    const { createLogger, format, transports } = require('winston');
    const logger = createLogger({
      format: format.simple(),
      transports: [new transports.Console(), new transports.File({ filename: 'out.log' })],
      exitOnError: false,
      handleExceptions: true,
    });
    logger.info('started');
    setTimeout(() => logger.error('still here'), 100);
    setTimeout(() => logger.end(), 200);
    throw new Error('the logger hears this');
  },
  pino: () => {
    const pino = require('pino');
    const logger = pino({ timestamp: false, base: null }, pino.destination({ sync: false }));
    logger.info('started');
    for (let i = 0; i < 100; i++) logger.info({ i }, 'line');
    throw new Error('with lines in the buffer');
  },
  'pino-transport': () => {
    const pino = require('pino');
    const logger = pino({
      timestamp: false,
      base: null,
      transport: { target: 'pino/file', options: { destination: 'out.log' } },
    });
    for (let i = 0; i < 100; i++) logger.info({ i }, 'line');
    logger.flush(() => process.exit(2));
  },
  bunyan: () => {
    const logger = require('bunyan').createLogger({ name: 'app' });
    logger.info({ a: 1 }, 'started');
    logger.error(new Error('an error'), 'failed');
  },
  log4js: () => {
    const log4js = require('log4js');
    log4js.configure({
      appenders: { file: { type: 'file', filename: 'out.log', layout: { type: 'basic' } } },
      categories: { default: { appenders: ['file'], level: 'info' } },
    });
    log4js.getLogger().info('started');
    log4js.shutdown(() => process.exit(1));
  },
};
loggers[kind]();
