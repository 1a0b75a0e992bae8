import { beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../../server/db/connection.js';
import { onServer, testDatabase, type TestDatabase } from '../support/database.js';

let database: TestDatabase;
beforeAll(async () => { database = await testDatabase(); });

describe('a transaction', () => {
  it('commits what it wrote and answers the result', async () => {
    await database.pool.query('create table kept (n int)');
    expect(await inTransaction(database.pool, async tx => (await tx.query('insert into kept values (1) returning n')).rows[0].n)).toBe(1);
    expect((await database.pool.query('select n from kept')).rowCount).toBe(1);
  });

  it('rolls back when its function throws', async () => {
    await database.pool.query('create table undone (n int)');
    await expect(inTransaction(database.pool, async tx => {
      await tx.query('insert into undone values (1)');
      throw new Error('enough');
    })).rejects.toThrow('enough');
    expect((await database.pool.query('select n from undone')).rowCount).toBe(0);
  });

  it('does not claim a commit after a statement failed inside, even if that error was swallowed', async () => {
    await expect(inTransaction(database.pool, async tx => {
      await tx.query('select 1/0').catch(() => {});
    })).rejects.toThrow('nothing was written');
  });

  it('runs again after a deadlock', async () => {
    await database.pool.query('create table pair (id int primary key, n int default 0); insert into pair values (1), (2)');
    let met = 0;
    const both = (first: number, second: number) => inTransaction(database.pool, async tx => {
      await tx.query('set local deadlock_timeout = 50');
      await tx.query('update pair set n = n + 1 where id = $1', [first]);
      if (++met === 1) await expect.poll(() => met).toBeGreaterThan(1);
      await tx.query('update pair set n = n + 1 where id = $1', [second]);
    });
    await Promise.all([both(1, 2), both(2, 1)]);
    expect((await database.pool.query('select sum(n)::int as n from pair')).rows[0].n).toBe(4);
    expect(met).toBeGreaterThan(2);
  });

  it('survives that its backend is terminated: the error says so, the pool goes on', async () => {
    await expect(inTransaction(database.pool, async tx => {
      const { rows } = await tx.query('select pg_backend_pid() as pid');
      await onServer(client => client.query('select pg_terminate_backend($1, 5000)', [rows[0].pid]));
      await tx.query('select 1');
    })).rejects.toThrow();
    expect((await database.pool.query('select 1 as one')).rows[0].one).toBe(1);
  });

  it('is bounded: a statement that takes longer than timeoutMs ends', async () => {
    await expect(inTransaction(database.pool, tx => tx.query('select pg_sleep(30)'), { timeoutMs: 50 })).rejects.toMatchObject({ code: '57014' });
  });
});
