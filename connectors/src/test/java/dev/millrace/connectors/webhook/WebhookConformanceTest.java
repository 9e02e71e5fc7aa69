package dev.millrace.connectors.webhook;

import dev.millrace.testing.connector.ConformanceOf;
import dev.millrace.testing.connector.PushedConformance;
import dev.millrace.testing.connector.PushedFault;
import dev.millrace.testing.connector.PushedOutside;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is POSTed by a sender that sends again, with the same key, whatever was not answered. */
@Tag("long")
@ConformanceOf("source webhook")
@Timeout(120)
class WebhookConformanceTest extends PushedConformance {
    private final List<WebhookOutside> outsides = new ArrayList<>();

    @AfterEach
    void close() {
        outsides.forEach(WebhookOutside::close);
    }

    @Override
    protected PushedOutside outside() {
        WebhookOutside outside = new WebhookOutside();
        outsides.add(outside);
        return outside;
    }

    @ParameterizedTest
    @EnumSource(names = {"ACKNOWLEDGES_EARLY", "FORGETS_WHAT_CAME", "NEVER_FORGETS"})
    void faultsAreCaught(PushedFault fault) {
        catches(fault);
    }
}
