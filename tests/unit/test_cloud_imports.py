"""What a cold start pays for."""

import subprocess
import sys


def test_nothing_loads_boto3_before_aws_is_used() -> None:
    """Loading it takes longer than all the rest, and at home it is never needed."""
    script = (
        "import sys\n"
        "import cardsharp.cloud.lease, cardsharp.cloud.secrets, cardsharp.cloud.settings\n"
        "import cardsharp.cloud.sqlite, cardsharp.cloud.telemetry, cardsharp.cloud.adapters\n"
        "sys.exit('boto3' in sys.modules or 'botocore.session' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], check=False)  # noqa: S603 - our own
    assert done.returncode == 0
