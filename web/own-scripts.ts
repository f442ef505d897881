interface TrustedTypes {
  createPolicy(name: 'default', rules: { createScriptURL(address: string): string }): unknown;
}

/**
 * The server's policy lets no text become HTML or a script: a browser that knows trusted types throws instead. Only a
 * script of this server may still be started by its address, as the stream's is.
 */
export function trustOwnScripts(): void {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  trustedTypes?.createPolicy('default', {
    createScriptURL: (address) => {
      if (new URL(address, location.href).origin === location.origin) return address;
      throw new TypeError(`not a script of this page: ${address}`);
    },
  });
}
