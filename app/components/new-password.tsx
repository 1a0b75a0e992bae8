import { TextField } from './ui/text-field';

/** A password that is being chosen, twice. */
export function NewPassword({ min, required = false }: { min: number; required?: boolean }) {
  return (
    <>
      <TextField label="New password" name="password" type="password" autoComplete="new-password" maxLength={200} required={required} hint={`${min} characters or more; a few unrelated words make a good one.`} />
      <TextField label="New password, again" name="again" type="password" autoComplete="new-password" maxLength={200} required={required} />
    </>
  );
}
