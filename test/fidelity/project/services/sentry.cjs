const Sentry = require('@sentry/node');
Sentry.init({ dsn: 'http://key@127.0.0.1:9/1', tracesSampleRate: 0, beforeSend: (event) => (console.log('event', event.exception?.values?.[0]?.value), null) });
