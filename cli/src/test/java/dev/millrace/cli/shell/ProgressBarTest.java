package dev.millrace.cli.shell;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.server.result.Progress;
import org.junit.jupiter.api.Test;

class ProgressBarTest {
    @Test
    void theBarFillsByEighthsOfACell() {
        assertEquals(
                "▕███████████████               ▏  50 %  12.3M rows, 1.2M rows/s",
                ProgressBar.line(new Progress(0.5, 12_345_678, 1_234_567)));
        assertEquals(
                "▕                              ▏   0 %  0 rows, 0 rows/s", ProgressBar.line(new Progress(0, 0, 0)));
    }

    @Test
    void whatCannotTellHowFarItIsShowsItsRate() {
        assertEquals("9999 rows, 10.0k rows/s", ProgressBar.line(new Progress(-1, 9_999, 10_000)));
    }
}
