import pino from 'pino';

export type Logger = pino.Logger;

/** Anything that lets its reader in: passwords in connection strings, API tokens, sign-in links, bearer headers. */
const secrets: [RegExp, string][] = [
  [/(postgres(?:ql)?:\/\/[^:/@\s"]*):[^@\s"]*@/g, '$1:***@'],
  // Whole tokens only: names of files may begin with lb_ too.
  [/\blb_[\w-]{43,}/g, 'lb_***'],
  [/(\/signin\/)[\w-]{8,}/g, '$1***'],
  [/(lb_(?:session|oidc)=)[^;,\s"\\]+/g, '$1***'],
  [/(Bearer )[\w.~+/=-]+/gi, '$1***'],
];

/** The text without the secrets that could let its reader in: for log lines, and for texts from outside before they are stored and shown. */
export function redacted(text: string): string {
  return secrets.reduce((line, [pattern, replacement]) => line.replace(pattern, replacement), text);
}

const secretFields = ['password', 'token', 'secret', 'sessionSecret', 'oidcClientSecret', 'authorization', 'cookie', 'apiKey', 'embeddingsApiKey', 'databaseUrl', 'databaseDirectUrl', 'webhookUrl'];

/**
 * One JSON line an event, written synchronously (nothing is lost when the process ends), secrets removed.
 * `destination` is a file descriptor: 1 by default; the command line uses 2, so that its answers stay alone on stdout.
 */
export function createLogger(options: { level: string, name: string, destination?: 1 | 2 }): Logger {
  return pino({
    name: options.name,
    level: options.level,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: label => ({ level: label }) },
    serializers: { error: pino.stdSerializers.err, err: pino.stdSerializers.err },
    redact: {
      paths: secretFields.flatMap(field => [field, `*.${field}`, `*.*.${field}`]),
      censor: '***',
    },
    hooks: { streamWrite: redacted },
  }, pino.destination({ fd: options.destination ?? 1, sync: true }));
}
