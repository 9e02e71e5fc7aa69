/** A schema registry for tests, over HTTP. Entry: {@link dev.millrace.testing.registry.RegistryServer}. */
package dev.millrace.testing.registry;
