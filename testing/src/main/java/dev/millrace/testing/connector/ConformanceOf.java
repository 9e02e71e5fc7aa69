package dev.millrace.testing.connector;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Which connectors a class of tests holds to their contract, with faults that it catches: {@code "source kafka"}, {@code "sink http"},
 * {@code "table jdbc"}. {@code ConnectorsPageTest} looks for one of each connector.
 */
@Documented
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.SOURCE)
public @interface ConformanceOf {
    String[] value();
}
