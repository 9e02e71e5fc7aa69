package dev.millrace.connector;

/** An option of a connector as users read it. {@code defaultValue} empty means required or none. */
public record OptionDescription(String name, String defaultValue, String meaning) {}
