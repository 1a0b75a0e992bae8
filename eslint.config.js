import tseslint from 'typescript-eslint';

const noAny = {
  selector: "MemberExpression[object.name='AbortSignal'][property.name='any']",
  message: 'AbortSignal.any never fires after a garbage collection (Node 20). One controller, setTimeout, and a listener removed in finally.',
};
const databaseClock = [
  { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: 'The database clock decides; local trust is performance.now().' },
  { selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']", message: 'The database clock decides; local trust is performance.now().' },
];

export default tseslint.config(
  { ignores: ['node_modules/', 'build/', '.leaseboard/', '.cache/', '**/.*', 'server/db/generated.ts'] },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.recommended],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrors: 'none' }],
      'no-restricted-syntax': ['error', noAny],
      'no-console': 'error',
      'max-lines': ['error', 260],
      eqeqeq: 'error',
      'no-var': 'error',
      'prefer-const': 'error',
    },
  },
  {
    files: ['server/lease/**/*.ts', 'server/worker/**/*.ts', 'server/deployments/**/*.ts', 'server/webhook/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', noAny, ...databaseClock] },
  },
  {
    files: ['tests/**/*.{ts,tsx}', 'bench/**/*.ts'],
    rules: { '@typescript-eslint/no-explicit-any': 'off', 'no-console': 'off', 'max-lines': ['error', 400] },
  },
);
