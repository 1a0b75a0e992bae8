import { createContext, useContext } from 'react';

/** The nonce of this response, while it is rendered on the server. The browser hides nonces, so there it stays empty. */
export const NonceContext = createContext<string | undefined>(undefined);

export function useNonce(): string | undefined {
  return useContext(NonceContext);
}
