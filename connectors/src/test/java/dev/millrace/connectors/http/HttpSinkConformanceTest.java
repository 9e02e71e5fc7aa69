package dev.millrace.connectors.http;

import dev.millrace.testing.connector.AtLeastOnceConformance;
import dev.millrace.testing.connector.AtLeastOnceFault;
import dev.millrace.testing.connector.AtLeastOnceOutside;
import dev.millrace.testing.connector.ConformanceOf;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The sink that POSTs to a server that is not always there, and does not always answer. */
@Tag("long")
@ConformanceOf("sink http")
@Timeout(120)
class HttpSinkConformanceTest extends AtLeastOnceConformance {
    private final List<HttpOutside> outsides = new ArrayList<>();

    @AfterEach
    void close() {
        outsides.forEach(HttpOutside::close);
    }

    @Override
    protected AtLeastOnceOutside outside() {
        HttpOutside outside = new HttpOutside();
        outsides.add(outside);
        return outside;
    }

    @ParameterizedTest
    @EnumSource
    void faultsAreCaught(AtLeastOnceFault fault) {
        catches(fault);
    }
}
