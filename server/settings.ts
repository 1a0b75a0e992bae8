import { isIP } from 'node:net';

/** How one environment variable is read: its text becomes a value, or a sentence that says what was expected. */
export type Setting<T> = {
  env: string;
  /** Said in .env.example. */
  about: string;
  read: (text: string) => { value: T } | { expected: string };
  fallback: T;
  secret?: boolean;
};

/** process.env, or a part of it. */
export type Environment = Record<string, string | undefined>;

export type SettingTable = Record<string, Setting<unknown>>;
export type SettingValues<Table extends SettingTable> = { [Name in keyof Table]: Table[Name] extends Setting<infer T> ? T : never };

/** Reads every setting of the table; collects all faults instead of stopping at the first. Blank means default. */
export function readSettings<Table extends SettingTable>(table: Table, env: Environment): { values: SettingValues<Table>, faults: string[] } {
  const values: Record<string, unknown> = {};
  const faults: string[] = [];
  for (const [name, setting] of Object.entries(table)) {
    const text = env[setting.env]?.trim() ?? '';
    const answer = text === '' ? { value: setting.fallback } : setting.read(text);
    if ('value' in answer) values[name] = answer.value;
    else faults.push(`${setting.env}: expected ${answer.expected}, found ${setting.secret ? 'something else' : JSON.stringify(text)}`);
  }
  return { values: values as SettingValues<Table>, faults };
}

type Common = { about: string, secret?: boolean };

/** A number between two bounds, whole unless `fraction` is given. */
export function number<T extends number | undefined>(env: string, fallback: T, bounds: Common & { min: number, max: number, fraction?: boolean }): Setting<number | (T extends undefined ? undefined : never)> {
  const kind = bounds.fraction ? 'a number' : 'a whole number';
  return {
    env, about: bounds.about, fallback: fallback as never,
    read(text) {
      const value = Number(text);
      const fits = /^\d+(\.\d+)?$/.test(text) && value >= bounds.min && value <= bounds.max && (bounds.fraction || Number.isInteger(value));
      return fits ? { value } : { expected: `${kind} from ${bounds.min} to ${bounds.max}` };
    },
  };
}

/** A duration in seconds; fractions are allowed so that tests and repros can run short. */
export function seconds<T extends number | undefined>(env: string, fallback: T, bounds: Common & { min?: number, max?: number }) {
  return number(env, fallback, { about: bounds.about, min: bounds.min ?? 0.05, max: bounds.max ?? 7 * 86_400, fraction: true });
}

/** Free text of at least `minLength` characters. */
export function text<T extends string | undefined>(env: string, fallback: T, rule: Common & { minLength?: number, pattern?: RegExp, expected?: string }): Setting<string | (T extends undefined ? undefined : never)> {
  return {
    env, about: rule.about, fallback: fallback as never, secret: rule.secret,
    read(value) {
      const fits = value.length >= (rule.minLength ?? 1) && (rule.pattern?.test(value) ?? true);
      return fits ? { value } : { expected: rule.expected ?? `${rule.minLength} characters or more` };
    },
  };
}

/** A URL with one of the given protocols (without the colon). */
export function url(env: string, protocols: string[], rule: Common): Setting<string | undefined> {
  return {
    env, about: rule.about, fallback: undefined, secret: rule.secret,
    read(value) {
      const fits = URL.canParse(value) && protocols.includes(new URL(value).protocol.slice(0, -1));
      return fits ? { value } : { expected: `a URL starting with ${protocols.map(protocol => `${protocol}://`).join(' or ')}` };
    },
  };
}

/** One of a few words. */
export function oneOf<T extends string>(env: string, words: readonly T[], fallback: T, rule: Common): Setting<T> {
  return {
    env, about: rule.about, fallback,
    read: value => words.includes(value as T) ? { value: value as T } : { expected: `one of ${words.join(', ')}` },
  };
}

/** A comma-separated list of known words. */
export function listOf<T extends string>(env: string, words: readonly T[], fallback: T[], rule: Common): Setting<T[]> {
  return {
    env, about: rule.about, fallback,
    read(value) {
      const items = value.split(',').map(item => item.trim()).filter(item => item !== '');
      const fits = items.length > 0 && items.every(item => words.includes(item as T));
      return fits ? { value: [...new Set(items)] as T[] } : { expected: `a comma-separated list of ${words.join(', ')}` };
    },
  };
}

/** A comma-separated list of IP addresses and networks in CIDR notation; none by default. */
export function networks(env: string, rule: Common): Setting<string[]> {
  return {
    env, about: rule.about, fallback: [],
    read(value) {
      const items = value.split(',').map(item => item.trim()).filter(item => item !== '');
      return items.length > 0 && items.every(isNetwork) ? { value: items } : { expected: 'a comma-separated list of IP addresses or networks such as 10.0.0.0/8' };
    },
  };
}

function isNetwork(text: string): boolean {
  const [address = '', bits, more] = text.split('/');
  const version = isIP(address);
  return version !== 0 && more === undefined && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128)));
}

/** true/false, also 1/0, yes/no, on/off. */
export function flag(env: string, fallback: boolean, rule: Common): Setting<boolean> {
  const yes = ['true', '1', 'yes', 'on'];
  const no = ['false', '0', 'no', 'off'];
  return {
    env, about: rule.about, fallback,
    read(value) {
      const word = value.toLowerCase();
      return yes.includes(word) || no.includes(word) ? { value: yes.includes(word) } : { expected: 'true or false' };
    },
  };
}
