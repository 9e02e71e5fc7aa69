package dev.millrace.testing.mqtt;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledIf;

/** Tests that speak with {@link Mosquitto}: where it is not installed they say so and are skipped. */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Tag("peers")
@EnabledIf(
        value = "dev.millrace.testing.mqtt.Mosquitto#isInstalled",
        disabledReason = "skipped because Mosquitto is not installed (package mosquitto)")
public @interface WithMosquitto {}
